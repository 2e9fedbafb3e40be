"""What programs of AMD IL cost on GPUs with bundles: model.py is the report as data, text.py and json.py its forms."""
